package career

import (
	"fmt"
	"slices"
)

// diff collects differences about one thing.
type diff struct {
	what string
	list []string
}

func (d *diff) say(form string, args ...any) {
	d.list = append(d.list, d.what+": "+fmt.Sprintf(form, args...))
}

// same compares two values; pointers are compared by what they point to.
func same[T comparable](d *diff, member string, got, want T) {
	if got != want {
		d.say("%s is %v, must be %v", member, got, want)
	}
}

func samePtr[T comparable](d *diff, member string, got, want *T) {
	switch {
	case got == nil && want == nil:
	case got == nil || want == nil || *got != *want:
		d.say("%s is %s, must be %s", member, show(got), show(want))
	}
}

func show[T any](p *T) string {
	if p == nil {
		return "null"
	}
	return fmt.Sprint(*p)
}

// orNil is a pointer to v, nil for the zero value.
func orNil[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// CheckSignal compares one signal with what must have come of its call.
func CheckSignal(id, market string, who Identity, w Want, got Signal) []string {
	d := diff{what: "signal " + id}
	same(&d, "id", got.ID, id)
	same(&d, "privyId", got.PublicID, who.PublicID)
	samePtr(&d, "callsign", got.Callsign, &who.Handle)
	same(&d, "marketId", got.MarketID, market)
	same(&d, "direction", got.Direction, string(w.Side))
	samePtr(&d, "priceAtPrediction", got.Price, &w.Stored)
	samePtr(&d, "crowdYesAtSignal", got.CrowdYes, &w.Yes)
	samePtr(&d, "confidence", got.Confidence, orNil(w.Confidence))
	samePtr(&d, "textTake", got.Take, orNil(w.Take))
	same(&d, "status", got.Status, string(w.Status))
	samePtr(&d, "score", got.Score, &w.Score)
	answer := orNil(string(w.Answer))
	if w.Answer == Invalid {
		answer = nil
	}
	samePtr(&d, "outcome", got.Outcome, answer)
	samePtr(&d, "closePrice", got.ClosePrice, &w.Yes)
	samePtr(&d, "clvBps", got.CLV, w.CLV)
	if got.ClosePrice != nil { // and by its own closing line, whatever that is
		if clv := CLV(w.Side, w.Basis, *got.ClosePrice, w.Answer); show(clv) != show(got.CLV) {
			d.say("clvBps is %s, its closePrice %d makes it %s", show(got.CLV), *got.ClosePrice, show(clv))
		}
	}
	if got.ResolvedAt == nil {
		d.say("resolvedAt is null")
	}
	return d.list
}

// Filed is a call that was accepted, with its id and its caller.
type Filed struct {
	Want
	ID  string
	Who Identity
}

// CheckLedger compares a market's ledger with the calls filed on it.
func CheckLedger(market string, filed []Filed, got Ledger) []string {
	d := diff{what: "ledger of " + market}
	yes, no := 0, 0
	want := map[string]Filed{}
	for _, f := range filed {
		want[f.ID] = f
		if f.Side == CallYes {
			yes++
		} else {
			no++
		}
	}
	same(&d, "marketId", got.MarketID, market)
	same(&d, "count", got.Count, len(filed))
	if len(filed) > 0 {
		samePtr(&d, "yes", got.Yes, &yes)
		samePtr(&d, "no", got.No, &no)
	}
	for _, e := range got.Signals {
		f, ok := want[e.ID]
		if !ok {
			d.say("it lists %s, which nobody filed here", e.ID)
			continue
		}
		delete(want, e.ID)
		if e.Subject != f.Who.Subject || e.Direction != string(f.Side) || e.Price != f.Stored ||
			e.Status != string(f.Status) || show(e.Score) != show(&f.Score) {
			d.say("it lists %s as %s %s at %d, %s, score %s; must be %s %s at %d, %s, score %d", e.ID,
				e.Subject, e.Direction, e.Price, e.Status, show(e.Score), f.Who.Subject, f.Side, f.Stored, f.Status, f.Score)
		}
	}
	if len(want) > 0 && len(got.Signals) == got.Count {
		d.say("it does not list %d of its signals", len(want))
	}
	return d.list
}

// CheckOutcome compares a market's resolution record with the answer.
func CheckOutcome(market string, answer Verdict, got Outcome) []string {
	d := diff{what: "resolution of " + market}
	same(&d, "marketId", got.MarketID, market)
	r := got.Record
	if r == nil {
		d.say("outcome is null")
		return d.list
	}
	samePtr(&d, "outcome", r.Verdict, orNil(string(answer)))
	samePtr(&d, "resolver", r.Resolver, orNil("oracle"))
	samePtr(&d, "source", r.Source, orNil("polymarket"))
	if r.ResolvedAt == nil {
		d.say("resolvedAt is null")
	}
	if r.Disputed || r.DisputeReason != nil || r.DisputedAt != nil {
		d.say("it is marked as disputed")
	}
	return slices.Clip(d.list)
}
