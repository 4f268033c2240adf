"""Virtual machines that Tare makes."""
