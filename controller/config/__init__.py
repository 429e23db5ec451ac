"""The service's configuration: one TOML file for each table, such as configs/table.toml."""
