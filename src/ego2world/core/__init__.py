"""What every system shares and what knows nothing about kitchens: canonical bytes, hashes, safe writing."""
