// An extender for kube-scheduler and Volcano that chooses nothing: it accepts every node, gives all the same score, and
// binds pods where the scheduler wants them. As a webhook for bindings it allows all. Its cost is that of any extender or
// webhook; bench/kube_scheduler_throughput, bench/volcano_session and bench/admission_latency compare
// chipweave with it.
//
//	TOKEN=… do-nothing-extender --server https://127.0.0.1:6443 --ca ca.crt --port-file FILE
//	do-nothing-extender --tls-cert tls.crt --tls-key tls.key --port-file FILE
//
// Without --server it cannot bind, which Volcano does itself; API servers ask webhooks over TLS only. It listens on a free
// port of 127.0.0.1 and writes it to FILE. GET /times tells what it did so far.
package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"
	"time"
)

// Only the keys that are needed; the pod is not looked into.
type extenderArgs struct {
	Pod       json.RawMessage
	NodeNames []string
}

type bindingArgs struct {
	PodName, PodNamespace, PodUID, Node string
}

type times struct {
	calls, nanos atomic.Int64
}

type verb struct {
	times
	answer func(body []byte) ([]byte, error)
}

func main() {
	server := flag.String("server", "", "URL of the API server")
	ca := flag.String("ca", "", "file with its CA")
	cert := flag.String("tls-cert", "", "serve over TLS with this certificate")
	key := flag.String("tls-key", "", "and its key")
	portFile := flag.String("port-file", "", "the port is written here")
	flag.Parse()
	verbs := map[string]*verb{
		"filter":     {answer: filter},
		"prioritize": {answer: prioritize},
		"preempt":    {answer: preempt},
		"admission":  {answer: admit},
	}
	if *server != "" {
		client, err := clientFor(*ca)
		if err != nil {
			log.Fatal(err)
		}
		verbs["bind"] = &verb{answer: func(body []byte) ([]byte, error) {
			return bind(client, *server, os.Getenv("TOKEN"), body)
		}}
	}
	addVolcano(verbs)
	mux := http.NewServeMux()
	for name, v := range verbs {
		mux.Handle("POST /"+name, v)
	}
	mux.HandleFunc("GET /times", func(w http.ResponseWriter, _ *http.Request) { writeTimes(w, verbs) })
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	if err := os.WriteFile(*portFile, []byte(strconv.Itoa(port)+"\n"), 0o600); err != nil {
		log.Fatal(err)
	}
	if *cert != "" {
		log.Fatal(http.ServeTLS(listener, mux, *cert, *key))
	}
	log.Fatal(http.Serve(listener, mux))
}

// HTTP/2, as all Go clients of the API server use it: concurrent binds share one connection.
func clientFor(ca string) (*http.Client, error) {
	pem, err := os.ReadFile(ca)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, errors.New(ca + " holds no certificate")
	}
	transport := &http.Transport{
		TLSClientConfig:    &tls.Config{RootCAs: roots},
		ForceAttemptHTTP2:  true,
		DisableCompression: true,
	}
	return &http.Client{Transport: transport, Timeout: 4 * time.Second}, nil
}

// With a length: after a chunked answer kube-scheduler closes the connection.
func (v *verb) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	body := make([]byte, 0, max(r.ContentLength, 0)+bytes.MinRead)
	buffer := bytes.NewBuffer(body)
	if _, err := buffer.ReadFrom(r.Body); err != nil {
		return
	}
	answer, err := v.answer(buffer.Bytes())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
	w.Write(answer)
	v.calls.Add(1)
	v.nanos.Add(time.Since(began).Nanoseconds())
}

// Names of nodes need no escapes in JSON.
func filter(body []byte) ([]byte, error) {
	var args extenderArgs
	if err := json.Unmarshal(body, &args); err != nil {
		return nil, err
	}
	answer := append(make([]byte, 0, len(body)), `{"NodeNames":[`...)
	for i, name := range args.NodeNames {
		if i > 0 {
			answer = append(answer, ',')
		}
		answer = append(append(append(answer, '"'), name...), '"')
	}
	return append(answer, `],"FailedNodes":{},"Error":""}`...), nil
}

func prioritize(body []byte) ([]byte, error) {
	var args extenderArgs
	if err := json.Unmarshal(body, &args); err != nil {
		return nil, err
	}
	answer := append(make([]byte, 0, len(body)+24*len(args.NodeNames)), '[')
	for i, name := range args.NodeNames {
		if i > 0 {
			answer = append(answer, ',')
		}
		answer = append(append(append(answer, `{"Host":"`...), name...), `","Score":5}`...)
	}
	return append(answer, ']'), nil
}

// No node: nothing is ever preempted.
func preempt([]byte) ([]byte, error) {
	return []byte(`{"NodeNameToMetaVictims":{}}`), nil
}

// The least that a webhook can answer.
func admit(body []byte) ([]byte, error) {
	var review struct {
		Request struct{ UID string }
	}
	if err := json.Unmarshal(body, &review); err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview",`+
		`"response":{"uid":%q,"allowed":true}}`, review.Request.UID), nil
}

func bind(client *http.Client, server, token string, body []byte) ([]byte, error) {
	var args bindingArgs
	if err := json.Unmarshal(body, &args); err != nil {
		return nil, err
	}
	failure := ""
	if err := postBinding(client, server, token, args); err != nil {
		log.Print(err)
		failure = err.Error()
	}
	return json.Marshal(map[string]string{"Error": failure})
}

func postBinding(client *http.Client, server, token string, args bindingArgs) error {
	binding := fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Binding",`+
		`"metadata":{"name":"%s","namespace":"%s","uid":"%s"},`+
		`"target":{"apiVersion":"v1","kind":"Node","name":"%s"}}`,
		args.PodName, args.PodNamespace, args.PodUID, args.Node)
	path := server + "/api/v1/namespaces/" + args.PodNamespace + "/pods/" + args.PodName + "/binding"
	request, err := http.NewRequest(http.MethodPost, path, bytes.NewReader(binding))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body) // to its end, so that the connection is kept
	if err == nil && response.StatusCode != http.StatusCreated {
		err = fmt.Errorf("%s: %s", response.Status, answer)
	}
	return err
}

func writeTimes(w io.Writer, verbs map[string]*verb) {
	all := map[string]any{}
	for name, v := range verbs {
		all[name] = map[string]any{"calls": v.calls.Load(), "seconds": float64(v.nanos.Load()) / 1e9}
	}
	json.NewEncoder(w).Encode(all)
}
