"""The standard environment interface: one task of an episode as a Gymnasium environment, alone or thousands at a time
(extra "gym").

Importing this package registers it, as Gymnasium asks of packages with environments:

    import gymnasium, ego2world.envs
    gymnasium.make("ego2world/Episode-v0", worlds="demo/worlds", episode="K01-20250301-080000")
"""

from ego2world.envs.space import ENV_ID, LOOK, REWARDS, TaskSpace, register_envs, write_specs

__all__ = ["ENV_ID", "LOOK", "REWARDS", "TaskSpace", "register_envs", "write_specs"]

register_envs()
