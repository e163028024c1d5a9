#!/usr/bin/env python3
"""Writes tests/e2e/schemas: one strict JSON schema for each kind of object in charts/chipweave, for kubeconform.

  eval "$(scripts/testbed up)"
  kubectl create -f CRDS…          # those of foreign APIs, see tests/e2e/README.md
  tests/e2e/make_schemas.py

They are made of what the API server of a running testbed tells about its API. Fields that it would drop or refuse are
errors here; descriptions and `status`, which no chart writes, are left out."""
import json, os, shutil, sys
from pathlib import Path
from urllib.parse import urlsplit

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from testbed.api import request

KINDS = ["v1/ConfigMap", "v1/Pod", "v1/Secret", "v1/Service", "v1/ServiceAccount", "apps/v1/DaemonSet", "apps/v1/Deployment", "batch/v1/Job",
         "rbac.authorization.k8s.io/v1/ClusterRole", "rbac.authorization.k8s.io/v1/ClusterRoleBinding",
         "rbac.authorization.k8s.io/v1/Role", "rbac.authorization.k8s.io/v1/RoleBinding",
         "policy/v1/PodDisruptionBudget", "resource.k8s.io/v1/DeviceClass", "resource.k8s.io/v1/ResourceClaim",
         "resource.k8s.io/v1/ResourceClaimTemplate", "networking.k8s.io/v1/NetworkPolicy",
         "admissionregistration.k8s.io/v1/MutatingWebhookConfiguration",
         "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy",
         "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyBinding",
         "apiextensions.k8s.io/v1/CustomResourceDefinition",
         "cert-manager.io/v1/Certificate", "cert-manager.io/v1/Issuer", "monitoring.coreos.com/v1/PrometheusRule",
         "monitoring.coreos.com/v1/ServiceMonitor"]
SCHEMAS = Path(__file__).resolve().parent / "schemas"
KEPT = ("type", "properties", "items", "required", "enum", "additionalProperties", "pattern", "minimum", "maximum",
        "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
TEXT_OR_NUMBER = {"type": ["string", "number"]}


# Only what kubeconform checks, with unknown fields refused.
def strict(schema):
    if "$ref" in schema:
        return {"$ref": schema["$ref"]}
    if schema.get("x-kubernetes-int-or-string") or schema.get("format") == "int-or-string":
        return TEXT_OR_NUMBER
    out = {key: value for key, value in schema.items() if key in KEPT}
    if "properties" in out:
        out["properties"] = {name: strict(value) for name, value in out["properties"].items()}
        if not schema.get("x-kubernetes-preserve-unknown-fields"):
            out.setdefault("additionalProperties", False)
    for key in ("items", "additionalProperties"):
        if isinstance(out.get(key), dict):
            out[key] = strict(out[key])
    return out


def names_in(schema):
    if isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str):  # a CustomResourceDefinition has a field of that name
            yield schema["$ref"].removeprefix("#/definitions/")
        for value in schema.values():
            yield from names_in(value)


# With all that it refers to: kubeconform does not follow references to other files.
def self_contained(definitions, name):
    top = strict(definitions[name])
    top["properties"].pop("status", None)
    used, waiting = {}, list(names_in(top))
    while waiting:
        wanted = waiting.pop()
        if wanted not in used:
            used[wanted] = TEXT_OR_NUMBER if wanted.endswith(".Quantity") else strict(definitions[wanted])
            waiting += names_in(used[wanted])
    return {**top, "definitions": used}


def main():
    try:
        port, ca, token = (os.environ[f"CHIPWEAVE_TESTBED_{name}"] for name in ("SERVER", "CA", "TOKEN"))
    except KeyError as missing:
        sys.exit(f"{missing} is not set: start a testbed with scripts/testbed up, and take its variables")
    code, text = request(urlsplit(port).port, "/openapi/v2", ca, token)
    if code != 200:
        sys.exit(f"/openapi/v2: {code}: {text}")
    definitions = json.loads(text)["definitions"]
    found = {"/".join(filter(None, (each["group"], each["version"], each["kind"]))): name
             for name, schema in definitions.items() for each in schema.get("x-kubernetes-group-version-kind", [])
             if "properties" in schema}
    if missing := [kind for kind in KINDS if kind not in found]:
        sys.exit(f"the API server does not know {', '.join(missing)}; see tests/e2e/README.md")
    shutil.rmtree(SCHEMAS, ignore_errors=True)
    SCHEMAS.mkdir()
    for kind in KINDS:
        *group, version, name = kind.split("/")
        file = "-".join([name.lower(), *(part.split(".")[0] for part in group), version]) + ".json"
        schema = self_contained(definitions, found[kind])
        (SCHEMAS / file).write_text(json.dumps(schema, sort_keys=True, separators=(",", ":")) + "\n")
        print(f"{(SCHEMAS / file).stat().st_size:7} {file}")


if __name__ == "__main__":
    main()
