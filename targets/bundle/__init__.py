"""The bundle: its data model, its writer and its verifying reader."""
