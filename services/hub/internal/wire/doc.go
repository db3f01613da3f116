// Package wire holds belief movement as the front door shows it: which markets
// moved within a window, and the stories that they make together. The ledger
// measures and ranks both.
package wire
