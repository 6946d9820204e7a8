import logging

log = logging.getLogger("torch._dynamo.convert_frame")


def give_up(function, why):
    """The warning of torch."""
    log.warning(
        "torch._dynamo hit config.%s (%s)\n   function: %s\n   last reason: %s\n"
        'To log all recompilation reasons, use TORCH_LOGS="recompiles".',
        "recompile_limit",
        8,
        f"'{function.__name__}'",
        why,
    )
