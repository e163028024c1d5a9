// Plays Volcano's scheduler with its extender plugin, as it was seen to call extenders: sessions once a second, predicates
// sixteen at a time, gangs that are allocated and taken back in every session until they fit, dry runs in HyperNodes,
// preemption. It decides nothing but by counts of resources and by what the extender answers; it binds without a placement.
//
//	TOKEN=… volcano-driver --server https://127.0.0.1:6443 --ca ca.crt --extender http://127.0.0.1:8080/volcano
//	volcano-driver --synthetic-nodes 1000 --pods-file pods.json --never-commit --sessions 10
//	  --extender a=http://127.0.0.1:8080/volcano --extender b=http://127.0.0.1:8081/volcano
//
// Several extenders take turns, a session each. Prints one JSON line for each session and a last one that sums up.
// SIGTERM ends it after the current session. Certificates of extenders are held against the system's roots, as Volcano
// does; SSL_CERT_FILE names others.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

const drainLimit = 10 * time.Second

type options struct {
	extenders     []string
	server, ca    string
	scheduler     string
	minMember     int
	period        time.Duration
	sessions      int
	untilIdle     bool
	verbs         string
	ignorable     bool
	managed       string
	timeout       time.Duration
	seed          uint64
	synthetic     syntheticOptions
	session       sessionOptions
	sessionAction string
}

type listFlag struct{ to *[]string }

func (l listFlag) String() string { return "" }
func (l listFlag) Set(text string) error {
	*l.to = append(*l.to, text)
	return nil
}

func parse(arguments []string) (*options, error) {
	o := &options{}
	var hyperNodes []string
	set := flag.NewFlagSet("volcano-driver", flag.ContinueOnError)
	set.Var(listFlag{&o.extenders}, "extender", "[NAME=]URL; several take turns")
	set.StringVar(&o.server, "server", "", "URL of the API server; its token is in the environment, TOKEN")
	set.StringVar(&o.ca, "ca", "", "file with the API server's CA")
	set.StringVar(&o.scheduler, "scheduler-name", "volcano", "whose pods are scheduled")
	set.IntVar(&o.minMember, "min-member", 0, "members a gang needs; 0: all that are there. A pod's annotation "+
		"scheduling.volcano.sh/group-min-member goes first")
	set.DurationVar(&o.period, "period", time.Second, "between the end of a session and the next")
	set.IntVar(&o.sessions, "sessions", 0, "end after so many sessions (of each extender); 0: go on")
	set.BoolVar(&o.untilIdle, "until-idle", false, "end when no pod waits")
	set.StringVar(&o.verbs, "verbs", "predicate,prioritize,allocate,deallocate", "what is asked, ACTION or ACTION=VERB: "+
		strings.Join(actions, ", "))
	set.BoolVar(&o.ignorable, "ignorable", false, "go on without an extender that fails")
	set.StringVar(&o.managed, "managed-resources", "", "ask only about pods that want one of them, with commas; empty: about all")
	set.DurationVar(&o.timeout, "http-timeout", 5*time.Second, "of a call to the extender")
	set.Uint64Var(&o.seed, "seed", 1, "of what Volcano does at random: nodes of equal score, the winner of dry runs")
	set.StringVar(&o.sessionAction, "actions", "enqueue,allocate", "in this order: enqueue, allocate, preempt, reclaim")
	set.Var(listFlag{&hyperNodes}, "hypernode", "NAME=NODE,NODE…: a domain; gangs must lie in one of them")
	set.IntVar(&o.session.storm, "storm", 1, "how often a gang is tried in each session")
	set.BoolVar(&o.session.noCache, "no-predicate-error-cache", false, "ask about each pod, also where one of its role was refused")
	set.BoolVar(&o.session.nominations, "nominations", true, "look at the node in a pod's status.nominatedNodeName first")
	set.BoolVar(&o.session.neverCommit, "never-commit", false, "take everything back at the end of each session")
	set.IntVar(&o.session.sampling.percentage, "percentage-nodes-to-find", 0, "100: all; 0: as Volcano, fewer of many")
	set.IntVar(&o.session.sampling.least, "minimum-feasible-nodes", 100, "looked for where there are that many")
	set.IntVar(&o.synthetic.nodes, "synthetic-nodes", 0, "invent so many nodes, node-0 …, instead of asking an API server")
	set.IntVar(&o.synthetic.nodeBytes, "node-bytes", 15000, "length of an invented node")
	set.IntVar(&o.synthetic.runningPods, "running-pods", 2, "on each invented node")
	set.IntVar(&o.synthetic.podBytes, "pod-bytes", 6000, "length of such a pod")
	set.StringVar(&o.synthetic.nodeResource, "node-resource", "nvidia.com/gpu", "what the invented nodes have 8 of")
	set.StringVar(&o.synthetic.podsFile, "pods-file", "", "the pods that wait: {\"items\":[…]}")
	if err := set.Parse(arguments); err != nil {
		return nil, err
	}
	if set.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q", set.Arg(0))
	}
	return o, o.check(hyperNodes)
}

func (o *options) check(hyperNodes []string) error {
	if len(o.extenders) == 0 {
		return errors.New("--extender is missing")
	}
	if (o.synthetic.nodes > 0) == (o.server != "") {
		return errors.New("say either --server or --synthetic-nodes")
	}
	if o.synthetic.nodes > 0 && !o.session.neverCommit {
		return errors.New("nothing can be bound in an invented cluster: say --never-commit")
	}
	if o.session.storm < 1 || o.minMember < 0 || o.sessions < 0 {
		return errors.New("--storm is a number from 1, --min-member and --sessions are numbers from 0")
	}
	o.session.actions = strings.Split(o.sessionAction, ",")
	for _, action := range o.session.actions {
		if !slices.Contains([]string{"enqueue", "allocate", "preempt", "reclaim"}, action) {
			return fmt.Errorf("--actions: there is no %q", action)
		}
	}
	for _, text := range hyperNodes {
		name, nodes, found := strings.Cut(text, "=")
		if !found || nodes == "" {
			return fmt.Errorf("--hypernode %q: say NAME=NODE,NODE…", text)
		}
		o.session.hyperNodes = append(o.session.hyperNodes, hyperNode{name, strings.Split(nodes, ",")})
	}
	return nil
}

func (o *options) verbsByAction() (map[string]string, error) {
	found := map[string]string{}
	for text := range strings.SplitSeq(o.verbs, ",") {
		action, verb, renamed := strings.Cut(text, "=")
		if !slices.Contains(actions, action) {
			return nil, fmt.Errorf("--verbs: there is no action %q", action)
		}
		if found[action] = action; renamed {
			found[action] = verb
		}
	}
	return found, nil
}

func (o *options) makeExtenders() ([]*extender, error) {
	verbs, err := o.verbsByAction()
	if err != nil {
		return nil, err
	}
	managed := map[string]bool{}
	for name := range strings.SplitSeq(o.managed, ",") {
		if name != "" {
			managed[name] = true
		}
	}
	var all []*extender
	for _, text := range o.extenders {
		name, url, named := strings.Cut(text, "=")
		if !named || strings.Contains(name, "/") {
			name, url = "extender", text
		}
		all = append(all, newExtender(name, url, verbs, o.ignorable, managed, o.timeout))
	}
	return all, nil
}

func (o *options) makeCluster() (cluster, error) {
	if o.synthetic.nodes > 0 {
		return newSynthetic(o.synthetic)
	}
	return newAPICluster(o.server, o.ca, os.Getenv("TOKEN"))
}

func main() {
	o, err := parse(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "volcano-driver:", err)
		os.Exit(2)
	}
	extenders, err := o.makeExtenders()
	if err != nil {
		fmt.Fprintln(os.Stderr, "volcano-driver:", err)
		os.Exit(2)
	}
	c, err := o.makeCluster()
	if err != nil {
		log.Fatal("volcano-driver: ", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	newDriver(o, c, extenders).run(ctx, json.NewEncoder(os.Stdout))
}

// The sessions one after another, and what is known from one to the next.
type driver struct {
	options   *options
	cluster   cluster
	extenders []*extender
	number    int
	memories
}

func newDriver(o *options, c cluster, extenders []*extender) *driver {
	kept := memories{random: rand.New(rand.NewPCG(o.seed, 0)), enqueued: map[string]bool{}, nominated: map[string]string{}}
	return &driver{options: o, cluster: c, extenders: extenders, memories: kept}
}

type sessionLine struct {
	Session  int     `json:"session"`
	Extender string  `json:"extender"`
	Seconds  float64 `json:"seconds"`
	Error    string  `json:"error,omitempty"` // of the API server
	Binding  int     `json:"binding"`         // pods that are being bound
	told
	outcomes
	Verbs map[string]verbReport `json:"verbs"`
}

type lastLine struct {
	Sessions int                              `json:"sessions"` // of each extender
	Seconds  float64                          `json:"seconds"`
	Totals   map[string]map[string]verbReport `json:"totals"` // by extender and action
	outcomes
}

func (d *driver) run(ctx context.Context, out *json.Encoder) {
	began := time.Now()
	for ctx.Err() == nil && (d.options.sessions == 0 || d.number < d.options.sessions) {
		d.number++
		idle := true
		for _, e := range d.extenders {
			line := d.session(ctx, e)
			idle = idle && line.Error == "" && line.Pending == 0 && line.Binding == 0
			_ = out.Encode(line)
		}
		if d.options.untilIdle && idle {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(d.options.period):
		}
	}
	d.cluster.wait(drainLimit)
	last := lastLine{Sessions: d.number, Seconds: time.Since(began).Seconds(), Totals: map[string]map[string]verbReport{},
		outcomes: d.cluster.outcomes()}
	for _, e := range d.extenders {
		last.Totals[e.name] = e.stats.ofAll()
	}
	_ = out.Encode(last)
}

func (d *driver) session(ctx context.Context, e *extender) sessionLine {
	line := sessionLine{Session: d.number, Extender: e.name}
	snap, err := d.snapshot(ctx)
	if err != nil {
		line.Error, line.outcomes, line.Verbs = err.Error(), d.cluster.outcomes(), map[string]verbReport{}
		return line
	}
	began := time.Now()
	s := newSession(ctx, &d.options.session, snap, e, d.cluster, &d.memories)
	s.run()
	line.Seconds, line.told, line.Verbs = time.Since(began).Seconds(), s.told, e.stats.ofSession()
	line.Binding, line.outcomes = d.cluster.binding(), d.cluster.outcomes()
	return line
}

func (d *driver) snapshot(ctx context.Context) (*snapshot, error) {
	nodes, pods, bound, err := d.cluster.look(ctx)
	if err != nil {
		return nil, err
	}
	snap, err := takeSnapshot(nodes, pods, grouping{d.options.scheduler, d.options.minMember}, bound, d.enqueued)
	if err != nil {
		return nil, err
	}
	// Nothing is kept of what is gone.
	enqueued, nominated := map[string]bool{}, map[string]string{}
	for _, j := range snap.jobs {
		enqueued[j.uid] = d.enqueued[j.uid]
		for _, t := range j.pending() {
			if uid := t.pod.metadata.UID; d.nominated[uid] != "" {
				nominated[uid] = d.nominated[uid]
			}
		}
	}
	d.enqueued, d.nominated = enqueued, nominated
	return snap, nil
}
