// Package market stores markets and keeps their state and YES price fresh.
//
// Markets of a venue are read through the Venue interface and stored. Native markets are created here. A stored market
// never goes back in time: an older answer does not replace a newer one, and no answer changes a market that is
// resolved. The package does not depend on the database or on a wire format.
package market
