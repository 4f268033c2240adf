"""From an analysis to one HTML page, Markdown and JSON; computes no statistic."""
