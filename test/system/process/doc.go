// Package process checks how the processes of the services start, stop and restart. It also checks that the number of metric
// series and the memory use have limits.
package process
