module tare/rig/pause

go 1.24.0
