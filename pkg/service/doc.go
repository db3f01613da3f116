// Package service is the main function that the programs api, hub and clock share: their commands, the settings of those
// commands, exit codes, the log and the clock of a process, and its readiness. The order in which parts start and stop is in
// package run.
package service
