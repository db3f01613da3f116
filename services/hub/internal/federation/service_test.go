package federation_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/testkit"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	"github.com/signalcast/signalcast/services/hub/internal/federation"
	"github.com/signalcast/signalcast/services/hub/internal/identityclaim"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

const wallet = "0x52908400098527886E0F7030069857D2E4169EE7"

// fieldOf is a fake of the ledger and of the store. It has operators of this station, entries of partners, and claims.
type fieldOf struct {
	federation.Store
	recordv1.UnimplementedRecordServiceServer
	own, theirs []federation.Operator
	claims      map[federation.Proof]operator.ID
}

func (f *fieldOf) ListOperators(_ context.Context, r *recordv1.ListOperatorsRequest) (*recordv1.ListOperatorsResponse, error) {
	out := &recordv1.ListOperatorsResponse{}
	for _, o := range f.own[:min(int(r.GetLimit()), len(f.own))] {
		out.Operators = append(out.Operators, &recordv1.Ranked{
			Operator: &operatorv1.Operator{Id: string(o.ID), Handle: o.Handle, DisplayName: o.DisplayName, OperatorType: o.OperatorType, Tier: o.Tier},
			Stats:    &recordv1.Stats{Score: o.Score},
		})
	}
	return out, nil
}

func (f *fieldOf) CopiedOperators(context.Context, time.Time) ([]federation.Operator, error) {
	return slices.Clone(f.theirs), nil
}

func (f *fieldOf) Owners(_ context.Context, list []federation.Proof) (map[federation.Proof]operator.ID, error) {
	out := map[federation.Proof]operator.ID{}
	for _, p := range list {
		if id, there := f.claims[p]; there {
			out[p] = id
		}
	}
	return out, nil
}

// shown returns the ranking as a text of origin/handle entries, each with the merged stations in brackets.
func (f *fieldOf) shown(t *testing.T, want federation.Wanted) string {
	t.Helper()
	conn := testkit.Link(t, func(r grpc.ServiceRegistrar) { recordv1.RegisterRecordServiceServer(r, f) })
	s := federation.NewService(federation.Config{
		Origin: "https://hub.example", People: "https://hub.example/u/", Store: f, Ledger: ledgerclient.New(conn), Keep: time.Minute, Now: time.Now,
		Claims: []identityclaim.Station{{Name: "river", Profile: "https://river.example/u/"}},
	})
	list, err := s.Operators(t.Context(), want, federation.MaxOperators)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, o := range list {
		one := o.Origin + "/" + o.Handle
		if o.AlsoOn != nil {
			one += fmt.Sprint(o.AlsoOn)
		}
		out = append(out, one)
	}
	return strings.Join(out, " ")
}

func person(id operator.ID, origin, handle, href string, score int64) federation.Operator {
	return federation.Operator{
		ID: id, Origin: origin, OriginURL: "https://" + origin + ".example", Handle: handle, Href: href, Score: score, Tier: "independent", OperatorType: "human",
	}
}

// TestLink checks that an operator of a partner is merged with an operator of this hub if its link names a wallet that the
// operator of this hub has claimed at that station. An equal handle is not sufficient.
func TestLink(t *testing.T) {
	t.Parallel()
	const u = "https://river.example/u/"
	for name, c := range map[string]struct {
		row  federation.Operator
		want string
	}{
		"the wallet":              {person("", "river", "mara_r", u+wallet, 9), "hub/mara[river]"},
		"in lower case":           {person("", "river", "mara_r", u+strings.ToLower(wallet), 9), "hub/mara[river]"},
		"the handle alone":        {person("", "river", "mara", u+"mara", 9), "river/mara hub/mara"},
		"another wallet":          {person("", "river", "mara", u+"0x8617E340B3D01FA5F11F306F4090FD50E238070D", 9), "river/mara hub/mara"},
		"the wallet and more":     {person("", "river", "mara", u+wallet+"/x", 9), "river/mara hub/mara"},
		"the wallet elsewhere":    {person("", "river", "mara", "https://river.example/x?"+u+wallet, 9), "river/mara hub/mara"},
		"of another station":      {person("", "tide", "mara", "https://tide.example/u/"+wallet, 9), "tide/mara hub/mara"},
		"sent by another station": {person("", "tide", "mara", u+wallet, 9), "tide/mara hub/mara"},
	} {
		f := &fieldOf{
			own:    []federation.Operator{person("1", "", "mara", "", 5)},
			theirs: []federation.Operator{c.row}, claims: map[federation.Proof]operator.ID{{Station: "river", Identity: wallet}: "1"},
		}
		if got := f.shown(t, federation.Wanted{}); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if got := f.shown(t, federation.Wanted{Without: federation.Origins{federation.Hub: true}}); got != c.row.Origin+"/"+c.row.Handle {
			t.Errorf("%s, without own entries: %s", name, got)
		}
	}
	twice := &fieldOf{
		own:    []federation.Operator{person("1", "", "mara", "", 5)},
		theirs: []federation.Operator{person("", "river", "a", u+wallet, 9), person("", "river", "b", u+strings.ToLower(wallet), 8)},
		claims: map[federation.Proof]operator.ID{{Station: "river", Identity: wallet}: "1"},
	}
	if got := twice.shown(t, federation.Wanted{}); got != "hub/mara[river]" {
		t.Errorf("two rows of one wallet: %s", got)
	}
}

// TestMergeBelowTheCut checks that a partner's entry is also merged if the operator's rank at this station is below the entries
// that are read. An operator without an entry at this station keeps the entry of the partner.
func TestMergeBelowTheCut(t *testing.T) {
	t.Parallel()
	f := &fieldOf{
		theirs: []federation.Operator{person("", "river", "mara_r", "https://river.example/u/"+wallet, 999)},
		claims: map[federation.Proof]operator.ID{{Station: "river", Identity: wallet}: "mara"},
	}
	for i := range 100 {
		f.own = append(f.own, person(operator.ID(fmt.Sprint(i)), "", fmt.Sprintf("p%02d", i), "", int64(200-i)))
	}
	f.own = append(f.own, person("mara", "", "mara", "", 1))
	if got := f.shown(t, federation.Wanted{}); strings.Contains(got, "mara") || !strings.HasPrefix(got, "hub/p00 ") {
		t.Errorf("ranked below a hundred others: %s", got)
	}
	f.own = f.own[:3]
	if got := f.shown(t, federation.Wanted{}); got != "river/mara_r hub/p00 hub/p01 hub/p02" {
		t.Errorf("without an own entry: %s", got)
	}
}

// TestOwnRowsAlone checks that operators of this hub are listed if only they are requested, even if many operators of partners
// have higher scores.
func TestOwnRowsAlone(t *testing.T) {
	t.Parallel()
	f := &fieldOf{own: []federation.Operator{person("1", "", "mara", "", 5)}}
	for i := range federation.MaxOperators {
		f.theirs = append(f.theirs, person("", "tide", fmt.Sprintf("t%d", i), "", 9000))
	}
	if got := f.shown(t, federation.Wanted{Without: federation.ParseOrigins("https://river.example")}); strings.Contains(got, "mara") {
		t.Errorf("all origins: %s", got)
	}
	if got := f.shown(t, federation.Wanted{Only: federation.ParseOrigins("hub"), Without: federation.ParseOrigins("https://river.example")}); got != "hub/mara" {
		t.Errorf("own origin only: %s", got)
	}
}
