#include "tools/utlz/workload_spec_options.h"

#include <map>
#include <string>

#include "tools/utlz/option_checks.h"

namespace utlz {
namespace {

void AddNumber(CLI::App* command, const char* name, double* value, const char* description) {
  command->add_option(name, *value, description)->check(NumberRange(0.0, 1e30))->type_name("X");
}

}  // namespace

void AddWorkloadSpecOptions(CLI::App* command, WorkloadSpecRequest* request) {
  AddNumber(command, "--model-flops-per-step", &request->flops_per_step,
            "The model's own arithmetic in a step, for MFU");
  AddNumber(command, "--model-flops-per-token", &request->flops_per_token,
            "The same for a token; needs the tokens of a step");
  command
      ->add_option("--model-config", request->config,
                   "config.json of a Hugging Face decoder, to count its FLOPs")
      ->type_name("FILE");
  AddNumber(command, "--batch-size", &request->batch_size, "Sequences in a step, of all devices");
  AddNumber(command, "--sequence-length", &request->sequence_length,
            "Tokens of each, with padding");
  AddNumber(command, "--tokens-per-step", &request->tokens_per_step,
            "Tokens in a step without padding, for throughput");
  AddNumber(command, "--items-per-step", &request->items_per_step,
            "Images, requests or the like in a step, of all devices, for throughput");
  command->add_option("--item-name", request->item_name, "What those are called; default items")
      ->type_name("WORD");
  const std::map<std::string, ModelPass> passes = {{"training", ModelPass::kTraining},
                                                   {"prefill", ModelPass::kPrefill},
                                                   {"decode", ModelPass::kDecode}};
  command->add_option("--pass", request->pass, "training (3 x forward), prefill or decode")
      ->transform(Choice(passes))
      ->type_name("WORD");
  const std::map<std::string, AttentionTerm> terms = {{"causal", AttentionTerm::kCausal},
                                                      {"full", AttentionTerm::kFull},
                                                      {"none", AttentionTerm::kLeftOut}};
  command
      ->add_option("--attention-flops", request->attention,
                   "Attention's quadratic term: causal, full or none")
      ->transform(Choice(terms))
      ->type_name("WORD");
  AddNumber(command, "--price-per-hour", &request->price_per_hour,
            "Of all devices of the run together, for the cost of what is lost");
}

}  // namespace utlz
