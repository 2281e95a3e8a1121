"""Metrics pages of inference servers."""

# Pages as the servers write them, with {waiting}, {requests} and {tokens} to be filled in.
SERVER_PAGES = {
    "vllm": """# HELP vllm:num_requests_waiting Number of requests waiting to be processed.
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{{engine="0",model_name="m"}} {waiting}
vllm:num_requests_running{{engine="0",model_name="m"}} 8.0
vllm:prompt_tokens_total{{engine="0",model_name="m"}} {tokens}
vllm:generation_tokens_total{{engine="0",model_name="m"}} {tokens}
vllm:request_success_total{{engine="0",finished_reason="stop",model_name="m"}} {requests}
vllm:estimated_flops_per_gpu_total{{engine="0",model_name="m"}} {tokens}
vllm:time_to_first_token_seconds_bucket{{engine="0",le="0.5",model_name="m"}} {requests}
vllm:time_to_first_token_seconds_bucket{{engine="0",le="+Inf",model_name="m"}} {requests}
""",
    "sglang": """sglang:num_queue_reqs{{model_name="m"}} {waiting}
sglang:num_running_reqs{{model_name="m"}} 8.0
sglang:prompt_tokens_total{{model_name="m"}} {tokens}
sglang:generation_tokens_total{{model_name="m"}} {tokens}
sglang:num_requests_total{{model_name="m"}} {requests}
sglang:time_to_first_token_seconds_bucket{{le="0.5",model_name="m"}} {requests}
sglang:time_to_first_token_seconds_bucket{{le="+Inf",model_name="m"}} {requests}
""",
    "tgi": """tgi_queue_size {waiting}
tgi_batch_current_size 8
tgi_request_success{{method="batch"}} {requests}
tgi_request_input_length_sum {tokens}
tgi_request_generated_tokens_sum {tokens}
""",
    "triton": """nv_inference_pending_request_count{{model="m",version="1"}} {waiting}
nv_inference_request_success{{model="m",version="1"}} {requests}
""",
}
