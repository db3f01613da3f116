// Package process tests how the processes of the services start, stop and restart, which routes they have, and that their
// metrics are bounded.
package process
