"""What the world is made of, as tables: entity types with their traits, and what verb senses have in common."""
