package venue

import (
	"net/http"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

// Venue encodes one world in the wire format of a venue.
type Venue interface {
	// Handler serves the reads of the venue.
	Handler() http.Handler
	// Key returns the venue's own key of a market, and Find returns the market of a key.
	Key(m *world.Market) string
	Find(key string) (world.Market, bool)
	// Rules returns what tests may change at this venue.
	Rules() Rules
}

// Streamer is a venue with a websocket.
type Streamer interface {
	// Open returns the session of a new connection.
	Open() Session
}

// Session is one connection of a venue's websocket. One goroutine uses it.
type Session interface {
	// Receive reads a message of the client and returns the answer; a Text is sent as it is, other values as JSON.
	Receive(message []byte) []any
	// Poll returns the events since the last call.
	Poll() []any
	// Follows returns the numbers of the markets whose events are sent.
	Follows() []int64
}

// Text is a message that is not JSON.
type Text string

// Rules are the differences between the venues that the control routes apply.
type Rules struct {
	Prefix         string                     // of the project's market ids
	RateLimited    string                     // JSON body of status 429; empty: plain text of the network
	Labels         bool                       // outcomes may have other labels than Yes and No
	Kinds          []string                   // values of kind
	VenueStates    map[string]world.State     // values of venueState, with the state of each
	Resolutions    map[string][]world.Outcome // values of resolution, with the outcomes of each
	Payout         bool                       // INVALID may pay another share than half
	NoBook         bool                       // there are no order books
	NoDispute      bool                       // there is no disputed state
	Creator        bool                       // markets have a creator
	TradesProposed bool                       // trading continues while an outcome is proposed or disputed
}
