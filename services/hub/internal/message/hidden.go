package message

import (
	"context"
	"encoding/json"
	"fmt"

	moderationv1 "github.com/signalcast/signalcast/proto/moderation/v1"
)

// hide removes the payload of each message whose text moderation has hidden, and sets the field Hidden of its record. If no
// message contains text, hide sends no request to the ledger. Error: signal_service_unavailable.
func (s *Service) hide(ctx context.Context, records []Record) error {
	var things []*moderationv1.Thing
	var owner []int // index of the record of each thing
	for i := range records {
		list, err := textOf(&records[i])
		if err != nil {
			return err
		}
		for _, t := range list {
			things, owner = append(things, t), append(owner, i)
		}
	}
	if len(things) == 0 {
		return nil
	}
	r, err := s.Moderation.Hidden(ctx, &moderationv1.HiddenRequest{Things: things})
	if err != nil {
		return err
	}
	hidden := r.GetHidden()
	if len(hidden) != len(things) {
		return fmt.Errorf("moderation of %d objects returned %d results", len(things), len(hidden))
	}
	for n, i := range owner {
		if !hidden[n] || records[i].Hidden {
			continue
		}
		if records[i].Body, err = withoutPayload(records[i].Body); err != nil {
			return fmt.Errorf("remove payload of message %s: %w", records[i].ID, err)
		}
		records[i].Hidden = true
	}
	return nil
}

// shown returns a message as a client may see it: without its payload if moderation has hidden its text.
func (s *Service) shown(ctx context.Context, r Record) (Record, error) {
	one := []Record{r}
	err := s.hide(ctx, one)
	return one[0], err
}

// withoutPayload returns the canonical message body with its payload replaced by null.
func withoutPayload(body []byte) ([]byte, error) {
	members, err := object(body)
	if err != nil {
		return nil, err
	}
	members["payload"] = json.RawMessage("null")
	return encodeWithout(members, ""), nil
}

// textOf lists the moderated objects whose text a message contains. For a call, it lists the call if it has a take, and the
// market if the call states a market title. For a resolution, it lists the market if there is a reason or a proof URL. For a
// market, it lists the market; for a station, the station; for a profile or a broadcast, the profile of the author.
func textOf(r *Record) ([]*moderationv1.Thing, error) {
	var has struct {
		Payload struct {
			MarketID, EventID, StationID        string
			Take, MarketTitle, Reason, ProofURL string
		}
	}
	var did struct{ SignalID, MarketID string }
	if err := json.Unmarshal(r.Body, &has); err != nil {
		return nil, fmt.Errorf("read message %s: %w", r.ID, err)
	}
	if r.Result != nil {
		if err := json.Unmarshal(r.Result, &did); err != nil {
			return nil, fmt.Errorf("read result of message %s: %w", r.ID, err)
		}
	}
	p := &has.Payload
	var out []*moderationv1.Thing
	add := func(kind, id string) {
		if id != "" {
			out = append(out, &moderationv1.Thing{Kind: kind, Id: id})
		}
	}
	switch r.Type {
	case SignalCreate, PredictionCreate:
		if p.Take != "" {
			add("signal", did.SignalID)
		}
		if p.MarketTitle != "" {
			add("market", p.MarketID+p.EventID) // one of both ids is empty
		}
	case MarketCreate:
		add("market", did.MarketID)
	case ResolutionCreate:
		if p.Reason != "" || p.ProofURL != "" {
			add("market", p.MarketID)
		}
	case StationCreate, StationUpdate:
		add("station", p.StationID)
	case ProfileUpdate, BroadcastCreate, BroadcastGoLive:
		add("profile", r.DenpaID)
	}
	return out, nil
}
