package polymarket

import (
	"encoding/json"
	"net/http"
)

func answer(w http.ResponseWriter, status int, body any) {
	raw, err := json.Marshal(body)
	if err != nil {
		gammaFail(w, http.StatusInternalServerError, "internal error", "cannot get the information")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(raw)
}

// gammaFail is the error form of the metadata service.
func gammaFail(w http.ResponseWriter, status int, kind, text string) {
	answer(w, status, struct {
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
	answer(w, status, struct {
		Error string `json:"error"`
	}{text})
}
