"""The names of the tools whose files can be read; `tools.py` has their readers."""

TOOLS = ("ycsb", "cassandra-stress", "latte", "hlog", "sar", "iostat", "dstat", "csv")
