package rows

import (
	"net/http"

	"github.com/signalcast/signalcast/test/prove/client"
)

// byBearer is any text as a bearer.
func byBearer(text string) client.Credential { return client.Key(text) }

// byQuery adds one parameter to the address.
func byQuery(name, value string) client.Credential {
	return client.By(func(r *http.Request) {
		q := r.URL.Query()
		q.Set(name, value)
		r.URL.RawQuery = q.Encode()
	})
}
