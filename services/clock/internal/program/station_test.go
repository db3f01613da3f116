package program

import (
	"context"
	"errors"
	"testing"
	"time"
)

// register is the ledger's stations, and what it was told of them.
type register struct {
	list []Station
	told map[string]string
	away string
}

func (r *register) ActiveStations(context.Context) ([]Station, error) { return r.list, nil }

func (r *register) PublishStation(_ context.Context, id string, _ time.Time, data []byte) error {
	if id == r.away {
		return errors.New("away")
	}
	r.told[id] = string(data)
	return nil
}

// Each station is told what its lanes and providers air; one that cannot be told does
// not keep the others back, and nothing is told of what is less than whole.
func TestTellStations(t *testing.T) {
	t.Parallel()
	d, words := newDesk(), func(p *Program) ([]byte, error) {
		var out []byte
		for i := range p.Segments {
			if s := &p.Segments[i]; s.Kind == Content {
				out = append(out, string(s.Lane)+" "+string(s.Market)+";"...)
			}
		}
		return out, nil
	}
	r := &register{told: map[string]string{}, away: "off", list: []Station{
		{ID: "off"}, {ID: "all"}, {ID: "science", Lanes: []string{"SCIENCE", "MOON"}}, {ID: "none", Lanes: []string{"CRYPTO"}},
	}}
	if err := d.TellStations(t.Context(), r, words); err != nil || len(r.told) != 0 {
		t.Errorf("without facts: %v %v", err, r.told)
	}
	d.set(func() {
		d.pool = NewPool([]Market{market("1", in("sports")), market("2", in("science"))}, noon, 1)
		d.rundown = &Rundown{Entries: []Entry{entry("sports", SlotAt(noon), "1")}, LoadedAt: noon, Version: 1}
	})
	if err := d.TellStations(t.Context(), r, words); err == nil {
		t.Error("one that is away is no mistake")
	}
	if r.told["all"] != "sports 1;" || r.told["science"][:10] != "science 2;" || r.told["none"] != "" || len(r.told) != 3 {
		t.Errorf("%v", r.told)
	}
}
