package pages

import (
	"net/url"

	"github.com/signalcast/signalcast/pkg/protocol"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
	"github.com/signalcast/signalcast/services/hub/internal/record"
)

// callStates are the values of the parameter state of a profile page, with their labels and the statuses that they select.
var callStates = [...]struct {
	value, label string
	statuses     []string
}{
	{"", "All", nil},
	{"open", "Open", []string{string(protocol.Pending)}},
	{"resolved", "Resolved", []string{string(protocol.Won), string(protocol.Lost)}},
	{"void", "Void", []string{string(protocol.Void)}},
}

// callState returns the state that a parameter names, and the statuses that it selects. An unknown state is the empty one, which
// selects all calls.
func callState(raw string) (state string, statuses []string) {
	for _, s := range callStates {
		if s.value == raw {
			return s.value, s.statuses
		}
	}
	return "", nil
}

// callTabs returns the links to the calls of an operator by state, with their numbers. st has the totals; nil leaves out the
// numbers.
func callTabs(handle, here string, st *recordv1.Stats) []tab {
	var out []tab
	for _, s := range callStates {
		t := tab{Label: s.label, URL: callsURL(handle, s.value, ""), Here: s.value == here}
		if st != nil {
			counts := map[string]int64{"": st.GetTotal(), "open": record.Pending(st), "resolved": record.Resolved(st), "void": st.GetVoid()}
			t.Label += " " + format.Grouped(counts[s.value])
		}
		out = append(out, t)
	}
	return out
}

// callsURL returns the URL of the calls of an operator in a state. cursor is the position of older calls; empty: the newest calls.
func callsURL(handle, state, cursor string) string {
	query := url.Values{}
	if state != "" {
		query.Set("state", state)
	}
	if cursor != "" {
		query.Set("before", cursor)
	}
	address := url.URL{Path: site.PersonPath + handle, RawQuery: query.Encode(), Fragment: "calls"}
	return address.String()
}
