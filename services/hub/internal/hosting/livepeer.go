package hosting

import (
	"context"
	"net/http"

	"github.com/signalcast/signalcast/services/hub/internal/ingest"
)

// LivepeerName is the value of INGEST_PROVIDER for Livepeer Studio.
const LivepeerName = "livepeer"

// LivepeerConfig holds the address and credentials of Livepeer Studio.
type LivepeerConfig struct {
	API      string // https://livepeer.studio
	Key      string
	Ingest   string // rtmp://rtmp.livepeer.com/live
	Playback string // https://livepeercdn.studio/hls
}

// Livepeer provisions streams at Livepeer Studio. It implements ingest.Provider.
type Livepeer struct {
	c   client
	cfg LivepeerConfig
}

// NewLivepeer returns the provider for Livepeer Studio. It sends no request.
func NewLivepeer(cfg LivepeerConfig) Livepeer {
	return Livepeer{newClient(cfg.API, func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+cfg.Key) }), cfg}
}

// livepeerRequest is the body of a request that creates a stream. The stream has no transcoding. It is recorded, because
// Livepeer creates clips only of recorded streams.
type livepeerRequest struct {
	Name     string     `json:"name"`
	Record   bool       `json:"record"`
	Profiles []struct{} `json:"profiles"`
}

type livepeerStream struct {
	ID         string `json:"id"`
	StreamKey  string `json:"streamKey"`
	PlaybackID string `json:"playbackId"`
}

// Name implements ingest.Provider.
func (Livepeer) Name() string { return LivepeerName }

// Provision implements ingest.Provider. Livepeer cannot replace the key of a stream. Provision therefore creates another stream.
// After it is stored, the caller withdraws the previous stream, which invalidates its key.
func (l Livepeer) Provision(ctx context.Context, w ingest.Want) (ingest.Offer, error) {
	var st livepeerStream
	if err := l.c.call(ctx, http.MethodPost, "/api/stream", livepeerRequest{Name: w.Handle.String(), Record: true, Profiles: []struct{}{}}, &st); err != nil {
		return ingest.Offer{}, unavailable(LivepeerName, err)
	}
	if !isID(st.ID) || !isID(st.PlaybackID) || st.StreamKey == "" {
		return ingest.Offer{}, unavailable(LivepeerName, errAnswer)
	}
	return ingest.Offer{
		Protocol: "rtmp", URL: l.cfg.Ingest, Key: st.StreamKey, RemoteID: st.ID, HLSURL: l.cfg.Playback + "/" + st.PlaybackID + "/index.m3u8",
	}, nil
}

// Withdraw implements ingest.Provider.
func (l Livepeer) Withdraw(ctx context.Context, remoteID string) error {
	return l.c.withdraw(ctx, LivepeerName, "/api/stream", remoteID)
}

// Playback implements ingest.Provider.
func (Livepeer) Playback(s ingest.Stream) string { return s.HLSURL }
