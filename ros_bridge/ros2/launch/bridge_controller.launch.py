# SPDX-License-Identifier: Apache-2.0
"""bridge_controller, configured, and activated unless activate:=false."""
import os

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, EmitEvent, RegisterEventHandler
from launch.conditions import IfCondition
from launch.events import matches_action
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import LifecycleNode
from launch_ros.event_handlers import OnStateTransition
from launch_ros.events.lifecycle import ChangeState
from lifecycle_msgs.msg import Transition


def generate_launch_description():
    defaults = os.path.join(get_package_share_directory('pitwall_bridge'), 'config', 'bridge_controller.yaml')
    node = LifecycleNode(
        package='pitwall_bridge', executable='bridge_controller', name='bridge_controller', namespace='',
        parameters=[LaunchConfiguration('params_file')], output='screen')

    def change(transition):
        return EmitEvent(event=ChangeState(lifecycle_node_matcher=matches_action(node), transition_id=transition))

    activate = RegisterEventHandler(
        OnStateTransition(target_lifecycle_node=node, start_state='configuring', goal_state='inactive',
                          entities=[change(Transition.TRANSITION_ACTIVATE)]),
        condition=IfCondition(LaunchConfiguration('activate')))
    return LaunchDescription([
        DeclareLaunchArgument('params_file', default_value=defaults, description='YAML file of parameters'),
        DeclareLaunchArgument('activate', default_value='true', description='drive as soon as the deadman is held'),
        activate,
        node,
        change(Transition.TRANSITION_CONFIGURE),
    ])
