package main

import "encoding/json"

// The verbs of Volcano's extender plugin, twice: under /volcano/ a body is decoded as far as an answer needs it, under
// /constant/ it is read and ignored, which no extender that chooses anything can do. Both agree with everything.

type volcanoBody struct {
	Task struct {
		UID       string
		Name      string
		Namespace string
		NodeName  string
		Status    int
	} `json:"task"`
	Node struct {
		Name string
	} `json:"node"`
	Nodes []struct {
		Name string
	} `json:"nodes"`
}

// Volcano wants a JSON value from all of them but the hooks of a session, whose answer it does not read.
var volcanoAnswers = map[string]string{
	"onSessionOpen": "", "onSessionClose": "", "predicate": "{}", "prioritize": `{"nodeScore":{},"errorMessage":""}`,
	"preemptable": `{"status":0,"victims":null}`, "reclaimable": `{"status":0,"victims":null}`,
	"queueOverused": `{"overused":false}`, "jobEnqueueable": `{"status":0}`, "jobEnqueued": "{}", "jobReady": `{"status":true}`,
	"allocate": `{"errorMessage":""}`, "deallocate": `{"errorMessage":""}`,
}

func addVolcano(verbs map[string]*verb) {
	for name, text := range volcanoAnswers {
		constant := []byte(text)
		verbs["constant/"+name] = &verb{answer: func([]byte) ([]byte, error) { return constant, nil }}
		verbs["volcano/"+name] = &verb{answer: func(body []byte) ([]byte, error) {
			if text == "" {
				return nil, nil
			}
			var decoded volcanoBody
			if err := json.Unmarshal(body, &decoded); err != nil {
				return nil, err
			}
			if name == "prioritize" {
				return equalScores(decoded), nil
			}
			return constant, nil
		}}
	}
}

// Names of nodes need no escapes in JSON.
func equalScores(body volcanoBody) []byte {
	answer := append(make([]byte, 0, 64+32*len(body.Nodes)), `{"nodeScore":{`...)
	for i, node := range body.Nodes {
		if i > 0 {
			answer = append(answer, ',')
		}
		answer = append(append(append(answer, '"'), node.Name...), `":5`...)
	}
	return append(answer, `},"errorMessage":""}`...)
}
