package httpx

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
)

// Tagged responds with status 200, v as JSON and its entity tag, or with 304 if If-None-Match contains the tag.
func Tagged(c echo.Context, v any) error {
	body, err := Marshal(v)
	if err != nil {
		return err
	}
	return blobTagged(c, body, body)
}

// TaggedBy is like Tagged, but computes the entity tag from the parameter part instead of v. It is for responses that contain
// their read time, because the tag must not change if only that time differs.
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
	if NotModified(c, TagOf(tagged)) {
		return nil
	}
	return Blob(c, http.StatusOK, body)
}

// TagOf returns the entity tag of a body: the first 12 bytes of its SHA-256 hash in hexadecimal digits, in quotes.
func TagOf(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + hex.EncodeToString(sum[:12]) + `"`
}

// NotModified sets the ETag header of the response to the weak form of tag. If If-None-Match is "*" or contains the tag,
// NotModified responds with 304 and returns true.
func NotModified(c echo.Context, tag string) bool {
	c.Response().Header()["Etag"] = []string{"W/" + tag}
	for _, line := range c.Request().Header["If-None-Match"] {
		if strings.Contains(line, tag) || strings.TrimSpace(line) == "*" {
			c.Response().WriteHeader(http.StatusNotModified)
			return true
		}
	}
	return false
}
