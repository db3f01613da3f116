package effect

import (
	"context"
	"encoding/json"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/hub/internal/message"
	"github.com/signalcast/signalcast/services/hub/internal/stream"
)

// Live is a live session that an operator opened with an operator key.
type Live struct {
	DenpaID  string
	ShowID   string
	URL      string            // URL of the HLS playlist
	MarketID protocol.MarketID // market of the session; empty: none
}

const liveSubject = "live:"

// AttestLive attests once per session that the session went live. It does nothing if the stream URL is not an HLS URL that
// viewers may receive (see stream.Playable). Error: db_unavailable.
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
