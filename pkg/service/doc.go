// Package service contains the main function of the programs api, hub and clock: their common commands, the settings
// of these commands, exit codes, the log and the clock of a process, and its readiness. Package run starts and stops
// the parts.
package service
