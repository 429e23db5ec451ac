"""The Game Manager of a whole house: it takes in all tables' rounds, and reports on the floor."""
