package federation_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/testkit"
	stationv1 "github.com/signalcast/signalcast/proto/station/v1"
	"github.com/signalcast/signalcast/services/hub/internal/federation"
)

// world is a fake of the ledger, of the reader of partners and of the store.
type world struct {
	federation.Store
	mu sync.Mutex
	stationv1.UnimplementedStationReadServiceServer
	partners []*stationv1.Station
	register error
	fail     error // error of the store
	kept     map[string]string
	dropped  []string
}

func (w *world) ListActiveStations(context.Context, *stationv1.ListActiveStationsRequest) (*stationv1.ListActiveStationsResponse, error) {
	return &stationv1.ListActiveStationsResponse{Stations: w.partners}, w.register
}

func (w *world) Tapes(_ context.Context, p federation.Partner) ([]federation.Tape, error) {
	if strings.Contains(p.TapesURL, "broken") {
		return nil, errors.New("no answer")
	}
	return []federation.Tape{{ID: "t", Origin: p.Origin}}, nil
}

func (w *world) Operators(_ context.Context, p federation.Partner) ([]federation.Operator, error) {
	return []federation.Operator{{Handle: "o", Origin: p.Origin}}, nil
}

func (w *world) keep(key, what string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kept[key] = what
	return w.fail
}

func (w *world) ReplaceTapes(_ context.Context, origin string, list []federation.Tape, _ time.Time) error {
	return w.keep(origin+" tapes", list[0].Origin)
}

func (w *world) ReplaceOperators(_ context.Context, origin string, list []federation.Operator, _ time.Time) error {
	return w.keep(origin+" operators", list[0].Origin)
}

func (w *world) DeleteOthers(_ context.Context, origins []string) error {
	w.dropped = origins
	return w.fail
}

// TestRound checks that a round reads the lists of all partners. A partner whose read fails must be reported and must not affect
// the others.
func TestRound(t *testing.T) {
	t.Parallel()
	w := &world{kept: map[string]string{}}
	for i := range 20 {
		p := &stationv1.Station{StationId: fmt.Sprintf("p%02d", i), TapesUrl: "x", OperatorsUrl: "x"}
		switch i {
		case 3:
			p.TapesUrl = "broken"
		case 4:
			p.TapesUrl, p.OperatorsUrl = "", ""
		}
		w.partners = append(w.partners, p)
	}
	conn := testkit.Link(t, func(r grpc.ServiceRegistrar) { stationv1.RegisterStationReadServiceServer(r, w) })
	p := federation.NewPuller(ledgerclient.New(conn), w, w, time.Now)
	var mu sync.Mutex
	var failed []string
	p.Failed = func(origin string, _ error) { mu.Lock(); defer mu.Unlock(); failed = append(failed, origin) }
	if err := p.Round(t.Context()); err != nil || len(w.kept) != 37 || !slices.Equal(failed, []string{"p03"}) || len(w.dropped) != 20 {
		t.Errorf("%v: %d lists stored, %v failed, %v", err, len(w.kept), failed, w.dropped)
	}
	for key, origin := range w.kept {
		if !strings.HasPrefix(key, origin+" ") {
			t.Errorf("%s of %s", key, origin)
		}
	}
	// Without the list of partners, no copy is deleted and no partner is read.
	w.dropped, w.kept, w.register = nil, map[string]string{}, errors.New("unavailable")
	if err := p.Round(t.Context()); err == nil || w.dropped != nil || len(w.kept) != 0 {
		t.Errorf("%v %v", err, w.kept)
	}
	w.register, w.fail = nil, errors.New("unavailable")
	if err := p.Round(t.Context()); err == nil {
		t.Error("a failed write is not reported")
	}
}

func TestOriginOf(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"https://River.example:443/x?y#z": "https://river.example", "http://river.example:80": "http://river.example", "https://river.example.:8443": "https://river.example:8443",
		"https://[2001:DB8::1]/": "https://[2001:db8::1]", "https://u@river.example": "", "ftp://river.example": "", "//river.example": "", "river.example": "", "": "", "https://": "",
		"javascript:alert(1)": "", "https://river.example%00.evil.example": "", "http://river.example:443": "http://river.example:443",
	} {
		if got := federation.OriginOf(raw); got != want {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
	}
}
