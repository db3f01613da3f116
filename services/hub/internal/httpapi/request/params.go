package request

import (
	"errors"
	"strings"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/hub/internal/market"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/signal"
)

var errMissingHandle = apperr.New(apperr.Invalid, "missing_handle", "handle is required").With("field", "handle")

// HandleParam returns the operator handle in the path. Error: not_found for a text that cannot be a handle.
func HandleParam(c echo.Context) (protocol.Handle, error) {
	h, err := protocol.ParseHandle(c.Param("handle"))
	if err != nil {
		return "", operator.ErrUnknown
	}
	return h, nil
}

// HandleQuery returns the operator handle in the query parameter "handle". Errors: missing_handle, invalid_handle.
func HandleQuery(c echo.Context) (protocol.Handle, error) {
	raw := c.QueryParam("handle")
	if raw == "" {
		return "", errMissingHandle
	}
	return protocol.ParseHandle(raw)
}

// ByHandle wraps a function that needs an operator handle. The returned handler reads the operator handle from the path. Error:
// not_found for a text that cannot be an operator handle.
func ByHandle(handle func(echo.Context, protocol.Handle) error) echo.HandlerFunc {
	return with(HandleParam, handle)
}

// ByHandleQuery wraps a function that needs an operator handle. The returned handler reads the operator handle from the query.
// Errors: missing_handle, and not_found for a text that cannot be an operator handle.
func ByHandleQuery(handle func(echo.Context, protocol.Handle) error) echo.HandlerFunc {
	return with(func(c echo.Context) (protocol.Handle, error) {
		h, err := HandleQuery(c)
		if errors.Is(err, protocol.ErrHandle) {
			err = operator.ErrUnknown
		}
		return h, err
	}, handle)
}

// maxCursor is the maximum length of a cursor in bytes. Cursors of the ledger are shorter.
const maxCursor = 1024

// Cursor returns raw, or "" if raw cannot be a cursor. With an empty cursor, a list starts at its first page.
func Cursor(raw string) string {
	invalid := func(r rune) bool {
		return r != '-' && r != '_' && r != '=' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}
	if len(raw) > maxCursor || strings.ContainsFunc(raw, invalid) {
		return ""
	}
	return raw
}

// ParseUUID parses a UUID of 36 characters in upper or lower case and returns it in lower case. It returns false for any other
// text.
func ParseUUID(raw string) (string, bool) {
	if len(raw) != 36 {
		return "", false
	}
	id, err := uuid.Parse(raw)
	return id.String(), err == nil
}

// ByMarket wraps a function that needs a market id. The returned handler reads the id from the path. Error: not_found for an
// invalid id.
func ByMarket(handle func(echo.Context, protocol.MarketID) error) echo.HandlerFunc {
	return with(func(c echo.Context) (protocol.MarketID, error) {
		id, err := protocol.ParseMarketID(c.Param("marketId"))
		if err != nil {
			return "", market.ErrUnknown
		}
		return id, nil
	}, handle)
}

// BySignal wraps a function that needs a call id. The returned handler reads the id from the path. Error: not_found for an
// invalid id.
func BySignal(handle func(echo.Context, string) error) echo.HandlerFunc {
	return with(func(c echo.Context) (string, error) {
		id, ok := ParseUUID(c.Param("id"))
		if !ok {
			return "", signal.ErrUnknown
		}
		return id, nil
	}, handle)
}
