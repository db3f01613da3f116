// Package federation runs whole stacks on one machine that are each other's partners,
// and partners that lie, hang and flood.
package federation
