// Package service is the main function that the programs api, hub and clock share: their commands, the settings of those
// commands, exit codes, and the log and the clock of a process. The life of the parts of a process is in package run.
package service
