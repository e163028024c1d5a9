package wire

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
	api "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
	resources "k8s.io/kubelet/pkg/apis/podresources/v1"
)

var (
	message = regexp.MustCompile(`^message (\w+) \{(\})?`)
	service = regexp.MustCompile(`^service (\w+) \{`)
	field   = regexp.MustCompile(`^  (repeated |optional )?(map<[^>]*>|\w+) (\w+) = (\d+);`)
	method  = regexp.MustCompile(`^  rpc (\w+)\((\w+)\) returns \((stream )?(\w+)\);`)
)

func kind(f protoreflect.FieldDescriptor) string {
	if f.IsMap() {
		return "map<" + kind(f.MapKey()) + ", " + kind(f.MapValue()) + ">"
	}
	if f.Kind() == protoreflect.MessageKind {
		return string(f.Message().Name())
	}
	return f.Kind().String()
}

// Each message, field, service and method of our copy is the kubelet's: number, type, cardinality.
func compare(t *testing.T, file string, official protoreflect.FileDescriptor) {
	text, err := os.ReadFile("../../proto/kubelet/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var in protoreflect.MessageDescriptor
	var of protoreflect.ServiceDescriptor
	fields, methods := 0, 0
	for _, line := range strings.Split(string(text), "\n") {
		if found := message.FindStringSubmatch(line); found != nil {
			if in = official.Messages().ByName(protoreflect.Name(found[1])); in == nil {
				t.Fatalf("%s: the kubelet has no message %s", file, found[1])
			}
			of = nil
		} else if found := service.FindStringSubmatch(line); found != nil {
			if of = official.Services().ByName(protoreflect.Name(found[1])); of == nil {
				t.Fatalf("%s: the kubelet has no service %s", file, found[1])
			}
		} else if found := field.FindStringSubmatch(line); found != nil {
			fields++
			var theirs protoreflect.FieldDescriptor
			for i := 0; i < in.Fields().Len(); i++ {
				one := in.Fields().Get(i)
				if strings.EqualFold(strings.ReplaceAll(string(one.Name()), "_", ""), strings.ReplaceAll(found[3], "_", "")) {
					theirs = one
				}
			}
			if theirs == nil {
				t.Fatalf("%s: the kubelet's %s has no %s", file, in.Name(), found[3])
			}
			repeated := theirs.IsList()
			if found[4] != strconv.Itoa(int(theirs.Number())) || found[2] != kind(theirs) ||
				(found[1] == "repeated ") != repeated {
				t.Errorf("%s: %s.%s differs: %q, the kubelet has %s = %d, repeated %v", file, in.Name(), found[3], line, kind(theirs),
					theirs.Number(), repeated)
			}
		} else if found := method.FindStringSubmatch(line); found != nil {
			methods++
			theirs := of.Methods().ByName(protoreflect.Name(found[1]))
			if theirs == nil || string(theirs.Input().Name()) != found[2] || string(theirs.Output().Name()) != found[4] ||
				theirs.IsStreamingServer() != (found[3] != "") || theirs.IsStreamingClient() {
				t.Errorf("%s: %q differs", file, line)
			}
		} else if strings.HasPrefix(line, "package ") && line != "package "+string(official.Package())+";" {
			t.Errorf("%s: %q, the kubelet has %s", file, line, official.Package())
		}
	}
	if fields == 0 || methods == 0 {
		t.Errorf("%s: %d fields and %d methods were read", file, fields, methods)
	}
}

func TestOurCopyOfTheDevicePluginApiIsTheKubelets(t *testing.T) {
	official := (&api.RegisterRequest{}).ProtoReflect().Descriptor().ParentFile()
	compare(t, "device_plugin.proto", official)
	// What a vendor's plugin may answer passes through: nothing of it is unknown to us.
	text, _ := os.ReadFile("../../proto/kubelet/device_plugin.proto")
	answer := official.Messages().ByName("ContainerAllocateResponse")
	for i := 0; i < answer.Fields().Len(); i++ {
		if name := string(answer.Fields().Get(i).Name()); !strings.Contains(string(text), " "+name+" = ") {
			t.Errorf("the kubelet's ContainerAllocateResponse has %s, which our copy lacks", name)
		}
	}
}

func TestOurCopyOfThePodResourcesApiIsTheKubelets(t *testing.T) {
	compare(t, "pod_resources.proto", (&resources.ListPodResourcesRequest{}).ProtoReflect().Descriptor().ParentFile())
}
