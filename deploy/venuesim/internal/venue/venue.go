package venue

import (
	"net/http"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

// Venue serves the markets of one world in the wire format of a venue.
type Venue interface {
	// Handler returns the handler of the venue's routes.
	Handler() http.Handler
	// Key returns the key of a market at the venue, and Find returns the market of a key.
	Key(m *world.Market) string
	Find(key string) (world.Market, bool)
	// Rules returns the rules for changes by tests.
	Rules() Rules
}

// Streamer is a venue with a websocket.
type Streamer interface {
	// Open returns a session for a new connection.
	Open() Session
}

// Session is one connection of a venue's websocket. It must be used by one goroutine.
type Session interface {
	// Receive handles a message of the client and returns the answers. A Text is sent unchanged, other values as JSON.
	Receive(message []byte) []any
	// Poll returns the events since the last call.
	Poll() []any
	// Follows returns the numbers of the markets to which the client has subscribed.
	Follows() []int64
}

// Text is a websocket message that is not JSON.
type Text string

// Rules describes the differences between venues that the control routes check.
type Rules struct {
	Prefix         string                     // prefix of market ids in Signalcast
	RateLimited    string                     // JSON body of status 429; empty: plain text of a proxy
	Labels         bool                       // outcomes may have labels other than Yes and No
	Kinds          []string                   // allowed values of kind
	VenueStates    map[string]world.State     // allowed values of venueState with their states
	Resolutions    map[string][]world.Outcome // allowed values of resolution with their outcomes
	Payout         bool                       // INVALID may pay a share other than half
	NoBook         bool                       // there are no order books
	NoDispute      bool                       // there is no disputed state
	Creator        bool                       // markets have a creator
	TradesProposed bool                       // trading continues while an outcome is proposed or disputed
}
