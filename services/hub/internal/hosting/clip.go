package hosting

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/clip"
	"github.com/signalcast/signalcast/services/hub/internal/stream"
)

// errRemoved wraps clip.ErrNoVideo if the host has no video for a clip.
var errRemoved = fmt.Errorf("%w: the host has no such video", clip.ErrNoVideo)

// clipFault returns the error of a request for a clip. A missing object at the host is final.
func clipFault(host string, err error) error {
	if isNotFound(err) {
		err = errRemoved
	}
	return fmt.Errorf("%s: %w", host, err)
}

type livepeerAsset struct {
	ID          string `json:"id"`
	PlaybackID  string `json:"playbackId"`
	PlaybackURL string `json:"playbackUrl"`
	Status      struct {
		Phase string `json:"phase"`
	} `json:"status"`
	Spec struct {
		Duration float64 `json:"duration"` // seconds
	} `json:"videoSpec"`
}

// Clip implements clip.Host.
func (l Livepeer) Clip(ctx context.Context, s clip.Source, end time.Time, length time.Duration) (string, error) {
	playback, ok := strings.CutPrefix(strings.TrimSuffix(s.URL, "/index.m3u8"), l.cfg.Playback+"/")
	if !ok || !isID(playback) {
		return "", errRemoved
	}
	body := struct {
		PlaybackID string `json:"playbackId"`
		StartTime  int64  `json:"startTime"` // milliseconds since 1970
		EndTime    int64  `json:"endTime"`
	}{playback, end.Add(-length).UnixMilli(), end.UnixMilli()}
	var a struct {
		Asset livepeerAsset `json:"asset"`
	}
	if err := l.c.call(ctx, http.MethodPost, "/api/clip", body, &a); err != nil {
		return "", clipFault(LivepeerName, err)
	}
	if !isID(a.Asset.ID) {
		return "", clipFault(LivepeerName, errAnswer)
	}
	return a.Asset.ID, nil
}

// Clipped implements clip.Host.
func (l Livepeer) Clipped(ctx context.Context, id string) (clip.Video, error) {
	var a livepeerAsset
	if err := l.c.call(ctx, http.MethodGet, "/api/asset/"+id, nil, &a); err != nil {
		return clip.Video{}, clipFault(LivepeerName, err)
	}
	switch a.Status.Phase {
	case "ready":
		if !stream.Playable(a.PlaybackURL, nil) {
			if !isID(a.PlaybackID) {
				return clip.Video{}, clipFault(LivepeerName, errAnswer)
			}
			a.PlaybackURL = l.cfg.Playback + "/" + a.PlaybackID + "/index.m3u8"
		}
		return clip.Video{URL: a.PlaybackURL, Length: seconds(a.Spec.Duration)}, nil
	case "failed", "deleting", "deleted":
		return clip.Video{}, clipFault(LivepeerName, errRemoved)
	}
	return clip.Video{}, clip.ErrUnfinished
}

// seconds returns a duration that a host reports, or the length of a clip if the host reports none.
func seconds(s float64) time.Duration {
	if !(s > 0 && s < 3600) {
		return clip.Length
	}
	return time.Duration(s * float64(time.Second))
}

type muxAsset struct {
	Data struct {
		ID       string  `json:"id"`
		Status   string  `json:"status"`
		Duration float64 `json:"duration"` // seconds; 0: unknown
		Playback []struct {
			ID     string `json:"id"`
			Policy string `json:"policy"`
		} `json:"playback_ids"`
		Created    int64 `json:"created_at,string"` // seconds since 1970
		Recordings []struct {
			Started struct {
				Seconds int64 `json:"seconds"`
				Nanos   int64 `json:"nanos"`
			} `json:"started_at"`
			Duration float64 `json:"duration"` // seconds; the current recording may have none
		} `json:"recording_times"`
	} `json:"data"`
}

// position returns the position of a time in the recording of a stream, in seconds. A stream that was interrupted has several
// recordings, one after the other.
func (a *muxAsset) position(at time.Time) float64 {
	started, before := time.Unix(a.Data.Created, 0), 0.0
	for i, r := range a.Data.Recordings {
		started = time.Unix(r.Started.Seconds, r.Started.Nanos)
		if i < len(a.Data.Recordings)-1 {
			before += r.Duration
		}
	}
	p := before + at.Sub(started).Seconds()
	if a.Data.Duration > 0 {
		p = min(p, a.Data.Duration)
	}
	return p
}

const muxAssets = "/video/v1/assets"

// muxInput is the part of the recording of a stream from which Mux creates a clip.
type muxInput struct {
	URL   string  `json:"url"`
	Start float64 `json:"start_time"` // seconds from the start of the recording
	End   float64 `json:"end_time"`
}

// Clip implements clip.Host. Mux records each stream into an asset while it is live. The clip is a new asset from a part of it.
func (m Mux) Clip(ctx context.Context, s clip.Source, end time.Time, length time.Duration) (string, error) {
	var live struct {
		Data struct {
			Asset string `json:"active_asset_id"`
		} `json:"data"`
	}
	if !isID(s.RemoteID) {
		return "", errRemoved
	}
	if err := m.c.call(ctx, http.MethodGet, muxStreams+"/"+s.RemoteID, nil, &live); err != nil {
		return "", clipFault(MuxName, err)
	}
	if !isID(live.Data.Asset) {
		return "", clipFault(MuxName, errRemoved)
	}
	var recording, made muxAsset
	if err := m.c.call(ctx, http.MethodGet, muxAssets+"/"+live.Data.Asset, nil, &recording); err != nil {
		return "", clipFault(MuxName, err)
	}
	to := recording.position(end)
	if to <= 0 {
		return "", clipFault(MuxName, errors.New("the recording has not begun"))
	}
	body := struct {
		Input    []muxInput `json:"input"`
		Policies []string   `json:"playback_policies"`
	}{[]muxInput{{"mux://assets/" + live.Data.Asset, max(0, to-length.Seconds()), to}}, []string{"public"}}
	if err := m.c.call(ctx, http.MethodPost, muxAssets, body, &made); err != nil {
		return "", clipFault(MuxName, err)
	}
	if !isID(made.Data.ID) {
		return "", clipFault(MuxName, errAnswer)
	}
	return made.Data.ID, nil
}

// Clipped implements clip.Host.
func (m Mux) Clipped(ctx context.Context, id string) (clip.Video, error) {
	var a muxAsset
	if err := m.c.call(ctx, http.MethodGet, muxAssets+"/"+id, nil, &a); err != nil {
		return clip.Video{}, clipFault(MuxName, err)
	}
	switch a.Data.Status {
	case "ready":
		for _, p := range a.Data.Playback {
			if p.Policy == "public" && isID(p.ID) {
				return clip.Video{URL: m.cfg.Playback + "/" + p.ID + ".m3u8", Length: seconds(a.Data.Duration)}, nil
			}
		}
		return clip.Video{}, clipFault(MuxName, errAnswer)
	case "errored":
		return clip.Video{}, clipFault(MuxName, errRemoved)
	}
	return clip.Video{}, clip.ErrUnfinished
}
