package web

import "net/http"

// hardening are the headers of every answer in production: browsers use https only, no page
// may use these devices, and no window of another origin keeps a handle to a page.
var hardening = map[string][]string{
	"Strict-Transport-Security":  {"max-age=31536000"},
	"Permissions-Policy":         {"camera=(), microphone=(), geolocation=(), payment=(), usb=(), serial=(), bluetooth=(), midi=()"},
	"Cross-Origin-Opener-Policy": {"same-origin"},
}

// Harden adds the security headers of production to every answer of a handler, also to those
// that are answered before the router.
func Harden(next http.Handler, production bool) http.Handler {
	if !production {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		for name, value := range hardening {
			h[name] = value
		}
		next.ServeHTTP(w, r)
	})
}
