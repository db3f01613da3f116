// Package process tests how the processes of the services start, stop and restart. It also tests that the number of metric series
// and the memory use have limits.
package process
