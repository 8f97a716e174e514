"""From relations to the script: align the narrations, keep the best supported slots as steps."""
