//! Runs Deadheat's commands with a limit, and reads what they say.
