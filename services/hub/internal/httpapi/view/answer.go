package view

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// Viewer returns the operator of the session of a request, or "" without a session. Handlers call it if a part of the response
// depends on the viewer.
//
// It sets Vary and, with a session, Cache-Control, so that no cache serves the response to another viewer. If the session could
// not be checked, it marks the response as degraded.
func Viewer(c echo.Context) operator.ID {
	who, header := request.Caller(c), c.Response().Header()
	header.Set("Vary", "Cookie")
	if who.SessionErr != nil {
		httpx.Degrade(c, httpx.Source(who.SessionErr))
	}
	if who.Kind != caller.Session {
		return ""
	}
	header.Set("Cache-Control", CachePrivate)
	return who.Operator.ID
}

// List returns show(e) for each element e of list. The result is never nil.
func List[R, T any](list []R, show func(R) T) []T {
	out := make([]T, len(list))
	for i, one := range list {
		out[i] = show(one)
	}
	return out
}

// OK sends v with the status 200, or returns err if it is not nil.
func OK(c echo.Context, v any, err error) error {
	if err != nil {
		return err
	}
	return httpx.OK(c, v)
}

// Created sends v with the status 201, or returns err if it is not nil.
func Created(c echo.Context, v any, err error) error {
	if err != nil {
		return err
	}
	return httpx.JSON(c, http.StatusCreated, v)
}

// Tagged sends v with the status 200 and an entity tag, or returns err if it is not nil.
func Tagged(c echo.Context, v any, err error) error {
	if err != nil {
		return err
	}
	return httpx.Tagged(c, v)
}
