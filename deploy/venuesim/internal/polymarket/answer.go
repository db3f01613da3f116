package polymarket

import (
	"net/http"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/reply"
)

// gammaFail is the error form of the metadata service.
func gammaFail(w http.ResponseWriter, status int, kind, text string) {
	reply.JSON(w, status, struct {
		Type  string `json:"type"`
		Error string `json:"error"`
	}{kind, text})
}

func notFound(w http.ResponseWriter, what string) {
	gammaFail(w, http.StatusNotFound, "not found error", what+" not found")
}

func invalid(w http.ResponseWriter, text string) {
	gammaFail(w, http.StatusUnprocessableEntity, "validation error", text)
}

// clobFail is the error form of the order-book service.
func clobFail(w http.ResponseWriter, status int, text string) {
	reply.JSON(w, status, struct {
		Error string `json:"error"`
	}{text})
}
