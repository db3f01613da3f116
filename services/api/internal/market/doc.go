// Package market stores markets and refreshes their status and YES price.
//
// Markets of a venue are read through the Venue interface and stored. Native markets are created in this package. A record of
// a venue that is older than the stored market does not replace it, and no record changes a resolved market. The package does
// not depend on the database or on a wire format.
package market
