package pages

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"sync"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/page"
	"github.com/signalcast/signalcast/services/hub/internal/market"
)

//go:embed static/*
var staticFiles embed.FS

// versioned is the address of a file, which changes with what is in it.
func versioned(name string) (string, error) {
	body, err := staticFiles.ReadFile("static/" + name)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	sum := sha256.Sum256(body)
	return "/static/" + name + "?v=" + hex.EncodeToString(sum[:6]), nil
}

var contentTypes = map[string]string{
	"app.css": "text/css; charset=utf-8", "embed.css": "text/css; charset=utf-8", "mark.svg": "image/svg+xml",
	"overlay.css": "text/css; charset=utf-8", "tv.css": "text/css; charset=utf-8",
	"feed.js": aScript, "signalcast-feed.js": aScript, "line.js": aScript, "player.js": aScript, "programme.js": aScript,
	"overlay.js": aScript, "live.js": aScript, "tv.js": aScript, "studio.js": aScript,
	"docs.js": aScript, "swagger-ui-bundle.js": aScript, "swagger-ui.css": "text/css; charset=utf-8", "swagger-ui.LICENSE.txt": "text/plain; charset=utf-8",
	hlsFile: aScript, "hls.LICENSE.txt": "text/plain; charset=utf-8",
}

const (
	aScript = "text/javascript; charset=utf-8"
	hlsFile = "hls.light.min.mjs" // the player's library; its licence lies beside it
)

func (s *site) static(c echo.Context) error {
	file, ok := s.files[c.Param("file")]
	if !ok {
		return market.ErrUnknown
	}
	c.Response().Header().Set("X-Content-Type-Options", "nosniff")
	file().WriteTo(c.Response(), c.Request())
	return nil
}

// readFiles gives what is served of the files. Each is packed once, by the first who asks.
func readFiles() (map[string]func() *page.Page, error) {
	out := map[string]func() *page.Page{}
	for name, kind := range contentTypes {
		body, err := staticFiles.ReadFile("static/" + name)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		out[name] = sync.OnceValue(func() *page.Page { return page.Make(body).As(kind) })
	}
	return out, nil
}
