// Package broadcast is what is shown of the air beside the programme itself: the
// spotlight, the feed, the bumpers, what airings did, and the older schedule.
//
// It asks the clock, the ledger and the stage through ports and knows no HTTP, no JSON
// and no database. What airings did is association: nothing here says what caused what.
package broadcast
