package effect

import (
	"context"
	"encoding/json"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/hub/internal/message"
	"github.com/signalcast/signalcast/services/hub/internal/stream"
)

// Live is a live session that was opened with an operator key.
type Live struct {
	DenpaID  string
	ShowID   string
	URL      string            // HLS playlist
	MarketID protocol.MarketID // market of the session; empty: none
}

const liveSubject = "live:"

// AttestLive attests that a session went live, once per session. It does nothing for a URL that a message must not
// contain. Error: db_unavailable.
func (s *Service) AttestLive(ctx context.Context, l Live) error {
	if !stream.Playable(l.URL, nil) {
		return nil
	}
	if err := s.note(ctx, liveSubject+l.ShowID, l); err != nil {
		return err
	}
	return s.attestLive(ctx, l)
}

func (s *Service) attestLive(ctx context.Context, l Live) error {
	payload := map[string]any{"broadcastId": l.ShowID, "url": l.URL}
	if l.MarketID != "" {
		payload["marketId"] = string(l.MarketID)
	}
	_, err := s.Attester.Attest(ctx, message.Attestation{
		Type: message.BroadcastGoLive, DenpaID: l.DenpaID, Subject: l.ShowID, Payload: payload,
		Result: message.Result{"showId": l.ShowID},
	})
	if err != nil {
		return err
	}
	return s.Store.DropPending(ctx, liveSubject+l.ShowID)
}

func (s *Service) finishLive(ctx context.Context, d PendingAttestation) error {
	var l Live
	if err := json.Unmarshal(d.Body, &l); err != nil {
		return err
	}
	return s.attestLive(ctx, l)
}
