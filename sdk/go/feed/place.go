package feed

// place is how far a channel was read.
type place struct {
	at    int64 // everything of the channel up to here was read
	known bool
	exact bool // at is an event of the channel

	repair   string // id of the frame that asked again; empty: nothing is missing
	answered bool   // it was acknowledged: what comes now is what was asked for
	since    int    // beats of the connection when it was asked
	tries    int
}

// maxTries is how often a hole is requested before it becomes a Gap.
const maxTries = 3

// verdict is what an event is to a channel.
type verdict uint8

const (
	fits verdict = iota
	repeated
	missing // something before it is
)

func (p *place) judge(seq, prev int64) verdict {
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

// took notes an event that was handed on.
func (p *place) took(seq int64) { *p = place{at: seq, known: true, exact: true} }

// from begins again after a number that is no event of the channel.
func (p *place) from(at int64, known bool) { *p = place{at: at, known: known} }
