package feed

// position is the read position of a channel. It also contains the state of the requests for missing events.
type position struct {
	at    int64 // all events of the channel up to this number were read
	known bool  // at is set
	exact bool  // at is the number of an event of the channel

	repair   string // id of the frame that requested missing events; empty: no event is missing
	answered bool   // the frame was acknowledged, so the following events belong to the new subscription
	since    int    // number of beats of the connection when the frame was sent
	tries    int    // number of requests for the missing events
}

// maxTries is the maximum number of requests for missing events before the client delivers a Gap.
const maxTries = 3

// verdict is the result of comparing an event with the position of its channel.
type verdict uint8

const (
	fits     verdict = iota // the event is the next one
	repeated                // the event was read before
	missing                 // events before it are missing
)

// classify compares an event with the position and returns fits, repeated or missing. seq is the number of the event, and prev is
// the number of the previous event of the channel.
func (p *position) classify(seq, prev int64) verdict {
	switch {
	case !p.known:
		return fits
	case seq <= p.at:
		return repeated
	case p.exact && prev == p.at, !p.exact && prev <= p.at:
		return fits
	}
	return missing
}

// advance sets the position to seq, the number of a delivered event, and ends the repair of missing events.
func (p *position) advance(seq int64) { *p = position{at: seq, known: true, exact: true} }

// reset sets the position to at, which may be any number of the feed, and ends the repair of missing events. If known is false,
// the channel has no position.
func (p *position) reset(at int64, known bool) { *p = position{at: at, known: known} }
