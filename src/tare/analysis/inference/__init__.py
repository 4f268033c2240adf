"""From values per trial to effects, intervals and verdicts."""
