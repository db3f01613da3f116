package postgres

import (
	"strings"

	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// parts of the filing statement that only some calls need.
type parts uint8

const (
	withKeys    parts = 1 << iota // an idempotency key
	withLean                      // the caller's lean for the audit log
	withNatives                   // a market of our own, whose price moves with the call
	withStubs                     // a market that no venue may have confirmed
	quick                         // a market that is locked counts as one that is not there
	allParts    = withKeys | withLean | withNatives | withStubs | quick
)

var partNames = map[string]parts{"keys": withKeys, "lean": withLean, "natives": withNatives, "stubs": withStubs, "quick": quick}

// filingStatements are the forms of the filing statement, by the parts they have:
// every part costs each batch its tables, whether a call needs them or not.
var filingStatements = func() (out [allParts + 1]string) {
	for p := range out {
		out[p] = cutParts(query("signal_file"), parts(p))
	}
	return out
}()

// cutParts leaves out what stands between "-- only NAME" and "-- end NAME" for the
// parts that are not wanted.
func cutParts(text string, want parts) string {
	var b strings.Builder
	dropping := false
	for line := range strings.Lines(text) {
		mark := strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(mark, "-- only "); ok {
			dropping = want&partNames[name] == 0
			continue
		}
		if strings.HasPrefix(mark, "-- end ") {
			dropping = false
			continue
		}
		if !dropping {
			b.WriteString(line)
		}
	}
	return b.String()
}

// needs tells which parts a filing needs.
func (f *filing) needs() (p parts) {
	if f.draft.IdempotencyKey != nil {
		p |= withKeys
	}
	if f.draft.CrowdLean != nil {
		p |= withLean
	}
	if f.draft.MarketID.IsNative() {
		p |= withNatives
	} else if f.draft.Venue != signal.VenueSilent { // else the call has the verdict stub
		p |= withStubs
	}
	return p
}
