package httpx

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
)

// Tagged answers 200 with v as JSON and its entity tag, or 304 if the request names the same tag.
func Tagged(c echo.Context, v any) error {
	body, err := Marshal(v)
	if err != nil {
		return err
	}
	return blobTagged(c, body, body)
}

// TaggedBy answers like Tagged, with the entity tag of a part of v. It is for answers that contain the time at which they were
// read, so that only this time differs between two of them.
func TaggedBy(c echo.Context, v, part any) error {
	body, err := Marshal(v)
	if err != nil {
		return err
	}
	tagged, err := Marshal(part)
	if err != nil {
		return err
	}
	return blobTagged(c, body, tagged)
}

func blobTagged(c echo.Context, body, tagged []byte) error {
	if Known(c, TagOf(tagged)) {
		return nil
	}
	return Blob(c, http.StatusOK, body)
}

// TagOf returns the entity tag of a body, in quotes.
func TagOf(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + hex.EncodeToString(sum[:12]) + `"`
}

// Known sets the entity tag of the answer. If the request names the same tag, Known answers 304 and returns true.
func Known(c echo.Context, tag string) bool {
	c.Response().Header()["Etag"] = []string{"W/" + tag}
	for _, line := range c.Request().Header["If-None-Match"] {
		if strings.Contains(line, tag) || strings.TrimSpace(line) == "*" {
			c.Response().WriteHeader(http.StatusNotModified)
			return true
		}
	}
	return false
}
